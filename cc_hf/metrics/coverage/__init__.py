"""What a translation leaves out or adds, by contrastive conditioning."""
