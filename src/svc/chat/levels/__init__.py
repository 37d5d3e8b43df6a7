"""What members want to be told of: notification levels and mutes, for a channel or for all."""
