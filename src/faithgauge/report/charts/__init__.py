"""Tables to charts: one file per shape of chart, and the table that names them."""
