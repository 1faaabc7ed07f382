SELECT sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE date_diff('day', date, DATE '2026-01-15') BETWEEN 0 AND 29
