"""What the links of members' messages lead to, shown in short below the message."""
