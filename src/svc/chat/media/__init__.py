"""Stores and serves media, tracks references to it, and removes unreferenced media."""
