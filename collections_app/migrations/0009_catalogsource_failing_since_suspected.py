from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('collections_app', '0008_catalog_and_health'),
    ]

    operations = [
        migrations.AddField(
            model_name='catalogsource',
            name='failing_since',
            field=models.DateTimeField(help_text='Since when no reading was taken; empty when the last one was.', null=True),
        ),
        migrations.AddField(
            model_name='catalogsource',
            name='suspected',
            field=models.JSONField(default=list),
        ),
    ]
