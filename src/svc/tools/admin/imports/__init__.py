"""Readers for other programs' exports. `svc.chat.import_export` stores the result."""
