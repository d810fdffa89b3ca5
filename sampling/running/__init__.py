"""The whole loop: a plan handed over, simulated a launch a process, estimated as results come, topped up."""
