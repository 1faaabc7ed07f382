SELECT CAST(make_date(year(date), 3 * quarter(date) - 2, 1) AS VARCHAR) AS date, product_category, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE product_category = 'Electronics' OR product_category = 'Furniture'
GROUP BY ALL
ORDER BY ALL
