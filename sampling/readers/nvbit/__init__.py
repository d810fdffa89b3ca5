"""What NVBit's instr_count printed, as a profile without durations."""
