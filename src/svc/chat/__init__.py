"""The community server: members, channels, messages, and access to the voice rooms.

Media never passes through it. Each folder is a feature with `requests` (HTTP and the live socket), `rules`
(checks and effects) and `store`. `access`, `live` and `errors` are the layers below. See docs/http.md and
docs/live.md.
"""
