SELECT count(*) FILTER (revenue > 20000) AS count
FROM read_csv('examples/sales.csv')
