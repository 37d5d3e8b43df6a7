"""The foundation of every program: small modules that know no program.

Imports neither a program nor the native core.
"""
