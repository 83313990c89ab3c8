"""Columns of tables: their widths, chosen by the user, and the order of rows by a column."""
