SELECT CAST(date AS VARCHAR) AS date, sum(revenue) AS revenue, row_number() OVER (ORDER BY sum(revenue) DESC) AS rank
FROM read_csv('examples/sales.csv')
GROUP BY date
ORDER BY revenue DESC
LIMIT 5
