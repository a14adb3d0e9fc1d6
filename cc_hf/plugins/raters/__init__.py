"""What people say of translations: sheets on which they label them, and how often results agree."""
