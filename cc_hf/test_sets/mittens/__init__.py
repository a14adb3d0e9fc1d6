"""MiTTenS: its reader."""
