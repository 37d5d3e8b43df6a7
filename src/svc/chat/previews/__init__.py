"""Link previews below members' messages."""
