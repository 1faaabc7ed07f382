SELECT trip_id, fare, legs FROM trips WHERE fare > (SELECT AVG(fare) FROM trips WHERE legs > 1) AND legs < 5 ORDER BY fare DESC, trip_id ASC LIMIT 10
