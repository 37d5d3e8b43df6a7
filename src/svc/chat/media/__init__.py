"""Stores and serves media, tracks the references to it, and removes unreferenced media."""
