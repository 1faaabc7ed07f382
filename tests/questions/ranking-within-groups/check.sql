SELECT product_category, region, revenue, rank
FROM (
  SELECT product_category, region, sum(revenue) AS revenue,
         row_number() OVER (PARTITION BY product_category ORDER BY sum(revenue) DESC) AS rank
  FROM read_csv('examples/sales.csv')
  GROUP BY product_category, region
)
WHERE rank = 1
