SELECT sum(1) AS count
FROM read_csv('examples/sales.csv')
