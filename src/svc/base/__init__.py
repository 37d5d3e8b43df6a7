"""Small foundation modules that every program uses. They import neither the programs nor the native core."""
