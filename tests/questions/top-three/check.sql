SELECT product_category, sum(revenue) AS revenue, row_number() OVER (ORDER BY sum(revenue) DESC) AS rank
FROM read_csv('examples/sales.csv')
GROUP BY product_category
ORDER BY revenue DESC
LIMIT 3
