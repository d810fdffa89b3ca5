"""Miss-rate curves of address traces, by stack distance."""
