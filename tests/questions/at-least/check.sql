SELECT sum(revenue) FILTER (channel = 'online' AND units >= 100) AS revenue
FROM read_csv('examples/sales.csv')
