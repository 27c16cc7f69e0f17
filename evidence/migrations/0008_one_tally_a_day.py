from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('evidence', '0007_fill_daily_tallies')]

    operations = [
        migrations.RemoveField(model_name='tally', name='merging'),
        migrations.AlterField(model_name='tally', name='day', field=models.DateField(help_text='The day on which they were asked, in UTC.')),
        migrations.AddConstraint(
            model_name='tally',
            constraint=models.UniqueConstraint(fields=('day', 'alias', 'endpoint_name', 'served_id', 'shape', 'collection_name', 'seat', 'in_log'), name='one_tally_a_day'),
        ),
    ]
