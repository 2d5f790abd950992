"""Libraries compared with our own code: time, memory and the cases that each handles."""
