"""What a judge prefers by itself: an evaluator, or any metric that scores translations (Zaranis et
al. 2025).
"""
