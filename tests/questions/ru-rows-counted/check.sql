SELECT count(*) FILTER (revenue > 20000) AS "число строк"
FROM read_csv('examples/sales.csv')
