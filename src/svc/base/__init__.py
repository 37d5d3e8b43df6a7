"""What every program stands on: small modules that know no program.

Does not import any program, nor the native core.
"""
