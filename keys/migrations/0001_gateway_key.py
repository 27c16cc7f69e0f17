import django.core.validators
import django.db.models.functions.text
import re
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('collections_app', '0006_roster_version'),
    ]

    operations = [
        migrations.CreateModel(
            name='GatewayKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Whose it is: an app, a person. Fixed from then on.', max_length=64, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9](?: ?[A-Za-z0-9._@+-]){0,63}\\Z', '1 to 64 letters (a to z), digits and . _ @ + - characters, starting with a letter or digit, with single spaces between.'), django.core.validators.RegexValidator('\\Alocal\\Z', 'local is what callers without a key are called; a key needs another name.', flags=re.RegexFlag['IGNORECASE'], inverse_match=True)])),
                ('digest', models.CharField(editable=False, help_text='SHA-256 of the key, in hexadecimal.', max_length=64, unique=True)),
                ('last_four', models.CharField(editable=False, max_length=4)),
                ('limited', models.BooleanField(default=False, editable=False)),
                ('rpm', models.PositiveIntegerField(blank=True, help_text='Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100000)], verbose_name='requests a minute')),
                ('bench_field', models.BooleanField(default=True, help_text='Off for strict clients: replies then leave the bench field out.', verbose_name='bench field')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('last_used_at', models.DateTimeField(editable=False, null=True, verbose_name='last used')),
                ('expires_at', models.DateTimeField(blank=True, help_text='In UTC; empty: never.', null=True, verbose_name='expires')),
                ('revoked_at', models.DateTimeField(editable=False, null=True, verbose_name='revoked')),
                ('collections', models.ManyToManyField(blank=True, related_name='gateway_keys', to='collections_app.collection')),
            ],
            options={
                'verbose_name': 'gateway key',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='one_key_a_name', violation_error_message='A key of this name exists.'), models.CheckConstraint(condition=models.Q(('name__iexact', 'local'), _negated=True), name='no_key_is_local', violation_error_message='local is what callers without a key are called; a key needs another name.')],
            },
        ),
    ]
