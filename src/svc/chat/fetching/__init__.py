"""What strangers' messages point to, fetched without letting them reach into our own network."""
