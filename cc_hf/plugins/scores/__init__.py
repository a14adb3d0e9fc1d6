"""Quality of translations against references, and other metrics beside a judge."""
