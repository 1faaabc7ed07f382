WITH series AS (SELECT *, median(revenue) OVER (PARTITION BY region, product_category) AS middle FROM read_csv('examples/sales.csv')),
spread AS (SELECT *, median(abs(revenue - middle)) OVER (PARTITION BY region, product_category) AS deviation FROM series)
SELECT CAST(date AS VARCHAR) AS date, region, product_category, revenue, middle AS expected,
    (revenue - middle) / (1.4826 * deviation) AS score, true AS anomaly
FROM spread
WHERE abs(score) >= 3.5
