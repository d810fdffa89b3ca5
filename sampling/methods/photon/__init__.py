"""Photon: launches unlike all kept ones by their basic-block vector."""
