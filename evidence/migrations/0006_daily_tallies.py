from django.db import migrations, models

COUNTS = ["asked", "answered", "empty", "failed", "useful", "not_useful", "claims_real", "claims_false"]


class Migration(migrations.Migration):

    dependencies = [
        ('collections_app', '0010_decision_model_rules'),
        ('evidence', '0005_tally'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='tally', name='one_tally_a_model_and_shape'),
        migrations.AlterModelOptions(name='tally', options={'verbose_name_plural': 'tallies'}),
        *[
            migrations.AlterField(
                model_name='tally', name=name,
                field=models.BigIntegerField(default=0, **({'help_text': 'Calls judged useful.'} if name == 'useful' else {})),
            )
            for name in COUNTS
        ],
        migrations.AddField(model_name='tally', name='collection_name', field=models.CharField(blank=True, default='', max_length=40), preserve_default=False),
        migrations.AddField(
            model_name='tally', name='seat', preserve_default=False,
            field=models.CharField(blank=True, choices=[('member', 'Member'), ('explorer', 'Explorer'), ('merger', 'Merger')], default='', help_text='Empty: a member or an explorer.', max_length=10),
        ),
        migrations.AddField(model_name='tally', name='day', field=models.DateField(help_text='The day on which they were asked, in UTC.', null=True)),
        migrations.AddField(model_name='tally', name='in_log', field=models.BooleanField(default=False)),
        migrations.AddField(model_name='tally', name='seconds', field=models.FloatField(default=0, help_text='Of the answered ones together.')),
        migrations.AddField(model_name='tally', name='owed', field=models.BigIntegerField(default=0, help_text='Answered ones without a verdict, that can still be judged.')),
        migrations.AddField(model_name='tally', name='unique_finds', field=models.BigIntegerField(default=0)),
        migrations.AddField(model_name='verdict', name='unique_finds', field=models.PositiveIntegerField(default=0, editable=False)),
    ]
