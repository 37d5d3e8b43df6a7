"""The community server: members, channels, messages, and access to the voice rooms.

Audio and video in calls never pass through it. Each folder is a feature with `endpoints` (HTTP and the live
socket), `rules` (checks and effects) and `store` (SQL). `access`, `live` and `errors` are the layers below
the features. See docs/http.md and docs/live.md.
"""
