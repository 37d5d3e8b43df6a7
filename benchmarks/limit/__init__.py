"""Measures the hardware's limit with a program that only receives, decrypts once, encrypts for each receiver,
and sends.
"""
