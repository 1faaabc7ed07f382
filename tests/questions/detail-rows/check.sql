SELECT * REPLACE (CAST(date AS VARCHAR) AS date)
FROM read_csv('examples/sales.csv')
WHERE product_category = 'Furniture' AND region = 'West' AND date = DATE '2024-05-14'
