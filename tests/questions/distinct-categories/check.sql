SELECT count(*) AS "number of product_category"
FROM (SELECT DISTINCT product_category FROM read_csv('examples/sales.csv'))
