"""Foundation modules that every program uses. They are small and do not depend on a program.

Imports neither a program nor the native core.
"""
