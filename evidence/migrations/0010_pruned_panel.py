from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evidence', '0009_processes'),
    ]

    operations = [
        migrations.CreateModel(
            name='PrunedPanel',
            fields=[
                ('panel_id', models.CharField(max_length=24, primary_key=True, serialize=False)),
            ],
        ),
    ]
