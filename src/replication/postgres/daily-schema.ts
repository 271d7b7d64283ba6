export const dailyViews = 'flagmeter_reports';

/**
 * Names are those of the current accounts. The views hide everything else that they read, even from functions in a reader's query
 * (security_barrier).
 */
const shown = `WITH environments AS (
    SELECT (environment->>'number')::bigint AS environment, team.value::jsonb->>'name' AS team,
      application.value::jsonb->>'id' AS application_id, application.value::jsonb->>'name' AS application,
      environment->>'name' AS environment_name
    FROM fm_record AS application CROSS JOIN jsonb_array_elements(application.value::jsonb->'environments') AS environment
      LEFT JOIN fm_record AS team ON team."table" = 'teams' AND team.key = application.value::jsonb->>'teamId'
    WHERE application."table" = 'applications')
  SELECT environments.team, environments.application_id, environments.application,
    environments.environment_name AS environment, daily.feature`;
const source = `FROM fm_daily AS daily JOIN fm_day AS written USING (environment, day) JOIN environments USING (environment)
  WHERE written.position > 0`;

/**
 * Usage by days, for programs that read SQL. Nodes fill these tables from their replicas: see replication/daily-export.ts. The schema
 * of the views may already exist, because a role may lack the right to create one.
 */
export const dailySchema = `
CREATE TABLE fm_daily (
  environment bigint NOT NULL,
  day date NOT NULL,
  feature text COLLATE "C" NOT NULL,
  variant text COLLATE "C" NOT NULL,
  checks bigint NOT NULL,
  used bigint NOT NULL,
  viewed bigint NOT NULL,
  users bigint NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (environment, day, feature, variant)
);
COMMENT ON TABLE fm_daily IS 'What each series counted on a day, as a replica at a position of the log had it. The variant is empty for a feature as a whole';

CREATE TABLE fm_day (
  environment bigint NOT NULL,
  day date NOT NULL,
  position bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (environment, day)
);
COMMENT ON TABLE fm_day IS 'The position at which all rows of a day of an environment were written; 0 before the first time';

CREATE TABLE fm_export (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint NOT NULL DEFAULT 0,
  day date NOT NULL DEFAULT '1970-01-01',
  holder text NOT NULL DEFAULT '',
  until timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10);
COMMENT ON TABLE fm_export IS 'One row: days up to this one are written, with all that the log says up to this position. holder: the directory whose node writes';

INSERT INTO fm_export DEFAULT VALUES;
DO $$ BEGIN
     IF to_regnamespace('${dailyViews}') IS NULL THEN CREATE SCHEMA ${dailyViews}; END IF;
   END $$;
CREATE VIEW ${dailyViews}.daily_usage WITH (security_barrier) AS ${shown}, daily.variant, daily.day,
     daily.checks, daily.used, daily.viewed, daily.users ${source} AND daily.variant <> '';
COMMENT ON VIEW ${dailyViews}.daily_usage IS 'What each variant counted on each day (UTC) that is over';
CREATE VIEW ${dailyViews}.daily_features WITH (security_barrier) AS ${shown}, daily.day,
     daily.checks, daily.used, daily.viewed, daily.users ${source} AND daily.variant = '';
COMMENT ON VIEW ${dailyViews}.daily_features IS 'What all variants of each feature counted on each day (UTC) that is over';`;
