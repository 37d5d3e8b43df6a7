"""Measures the hardware limit with a program that only receives, decrypts once, encrypts for each receiver,
and sends.
"""
