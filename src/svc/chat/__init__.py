"""The community server: who may come in, who is where, and the way into the voice rooms.

Media never passes through it. Each folder is one feature: `requests` (over HTTP and on the
live socket) over `rules` (what is allowed and what happens) over `store`; `access`, `live`
and `errors` are the floor they stand on. docs/http.md and docs/live.md.
"""
