"""Words of time, by kind: what stands for "by <weekday>" in signals."""

KINDS: dict[str, str] = {}
for _kind, _words in {
    "<weekday>": "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes miércoles jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche",
    "<month>": "january february march april june july august september october november december januar februar märz juni juli oktober dezember enero febrero marzo abril junio julio agosto septiembre octubre noviembre diciembre janvier février mars avril juin juillet août septembre octobre novembre décembre jan feb apr jun jul aug sept sep oct nov dec",
    "<day>": "today tonight tomorrow heute morgen übermorgen hoy mañana aujourd hui demain",
    "<unit>": "minute minutes min mins hour hours day days week weeks month months year years fortnight minuten stunde stunden tag tage tagen woche wochen monat monate minutos horas días semana semanas mes meses heure heures jour jours semaine semaines mois",
    "<part>": "morning afternoon evening night noon midnight lunch weekend mittag abend nachmittag früh tarde noche midi soir matin",
}.items():
    KINDS.update(dict.fromkeys(_words.split(), _kind))
