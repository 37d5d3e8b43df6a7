"""Foundation modules that every program uses. They are small and know no program.

Imports neither a program nor the native core.
"""
