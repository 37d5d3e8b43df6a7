"""Stores members' notification levels and mutes, which apply to one channel or to all."""
