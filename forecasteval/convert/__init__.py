"""Answers that other programs wrote, as prediction files: `python eval.py convert
SOURCE -o prediction/NAME.json`.
"""
