"""Tallies of the days from the log, and what was unique about each seat's claims."""

from collections import Counter
from itertools import groupby

from django.db import migrations

# Not TRUE and FALSE, which SQLite takes for columns where there are some of that name, as a verdict has.
FILL = """
INSERT INTO evidence_tally (
    day, alias, endpoint_name, served_id, shape, collection_name, seat, asked, answered, empty, failed, seconds, owed,
    useful, not_useful, claims_real, claims_false, unique_finds, language_model_id, last_asked, in_log, merging
)
SELECT date(c.asked_at), c.alias, c.endpoint_name, c.served_id, c.shape, p.collection_name,
    CASE WHEN c.seat_name = 'merger' THEN 'merger' WHEN substr(c.seat_name, 1, 8) = 'explorer' THEN 'explorer' ELSE 'member' END,
    COUNT(*),
    SUM(CASE WHEN c.status = 'ok' THEN 1 ELSE 0 END),
    SUM(CASE WHEN c.status = 'empty' THEN 1 ELSE 0 END),
    SUM(CASE WHEN c.status = 'error' THEN 1 ELSE 0 END),
    SUM(CASE WHEN c.status = 'ok' THEN COALESCE(c.seconds, 0) ELSE 0 END),
    SUM(CASE WHEN c.status = 'ok' AND v.id IS NULL THEN 1 ELSE 0 END),
    SUM(CASE WHEN v.useful THEN 1 ELSE 0 END),
    SUM(CASE WHEN NOT v.useful THEN 1 ELSE 0 END),
    SUM(COALESCE({length}(v."real"), 0)),
    SUM(COALESCE({length}(v."false"), 0)),
    SUM(COALESCE(v.unique_finds, 0)),
    MAX(c.language_model_id), MAX(c.asked_at), (1 = 1), (1 = 0)
FROM evidence_call c JOIN evidence_panel p ON p.id = c.panel_id
LEFT JOIN evidence_verdict v ON v.call_id = c.id AND v.replaced_at IS NULL
WHERE c.status <> 'running'
GROUP BY 1, 2, 3, 4, 5, 6, 7
"""


def fill(apps, schema_editor):
    Tally, Verdict = apps.get_model('evidence', 'Tally'), apps.get_model('evidence', 'Verdict')
    for tally in Tally.objects.all():
        tally.day, tally.seat = tally.last_asked.date(), 'merger' if tally.merging else ''
        tally.save(update_fields=['day', 'seat'])
    counting = Verdict.objects.filter(replaced_at=None).exclude(call__seat_name='merger').order_by('call__panel_id')
    rows = counting.values_list('call__panel_id', 'pk', 'real').iterator()
    for _, verdicts in groupby(rows, key=lambda row: row[0]):
        said = {pk: {' '.join(str(claim).casefold().split()) for claim in real} for _, pk, real in verdicts}
        seats_with = Counter(claim for claims in said.values() for claim in claims)
        for pk, claims in said.items() if len(said) > 1 else ():
            if finds := sum(seats_with[claim] == 1 for claim in claims):
                Verdict.objects.filter(pk=pk).update(unique_finds=finds)
    length = 'jsonb_array_length' if schema_editor.connection.vendor == 'postgresql' else 'json_array_length'
    schema_editor.execute(FILL.format(length=length), params=None)


class Migration(migrations.Migration):

    dependencies = [('evidence', '0006_daily_tallies')]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
