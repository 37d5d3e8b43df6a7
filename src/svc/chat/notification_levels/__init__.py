"""Stores members' notification levels and mutes, for one channel or for all channels."""
