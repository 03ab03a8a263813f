"""What every wing needs; imports nothing of ours."""
