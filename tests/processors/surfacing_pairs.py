"""Notes and the talk that should, or should not, bring them back.

A pair is a note, what was then said, and whether the note belongs there. The look-alikes share words with the note but
not its matter. `FIRST` was written before the rule, `HELD_OUT` after it and never tuned on, `MORE` to
tune on.
"""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """One note, one turn, and whether the turn should surface the note."""

    note: str
    turn: str
    surfaces: bool
    context: str = ""


def _same(note: str, turn: str, context: str = "") -> Pair:
    return Pair(note, turn, True, context)


def _alike(note: str, turn: str, context: str = "") -> Pair:
    return Pair(note, turn, False, context)


FIRST = (
    _same(
        "Ask Priya about the vendor contract renewal", "I have a call with Priya this afternoon, what should I raise?"
    ),
    _same("Rotate the staging database credentials", "the staging credentials leaked into the logs again"),
    _same("Book a dentist appointment for Leo", "Leo has been complaining that his molar hurts"),
    _same("Renew the passport before the Lisbon trip", "I'm looking at hotels in Lisbon for October"),
    _same("Compare heat pump quotes", "The second installer finally called, their heat pump price is lower"),
    _same("Fix the flaky test in the checkout suite", "CI is red, it's that flaky checkout test again"),
    _same("Return the ladder to Mr. Osei", "I just saw Osei across the street mowing his lawn"),
    _same("Order more sourdough flour", "My sourdough starter is bubbling nicely today"),
    _same("Send the abstract to the neuroscience symposium", "When does the symposium programme come out?"),
    _same("Check whether the ingress supports websockets", "our websocket connections drop every minute"),
    _same("Prune the apple trees before March", "The apple tree next to the shed dropped a branch last night"),
    _same("Cancel the unused Figma seats", "We got the Figma invoice, it's higher than I expected"),
    _same("Tell the landlord about the mould", "The bathroom mould is getting worse", "bathroom ceiling"),
    _same("Refactor the retry logic in payment_client.py", "I'm editing payment_client.py right now to add timeouts"),
    _same("Vaccinate the puppy against rabies", "The vet said the puppy is healthy, 4 kilos now"),
    _same("Write tests for the CSV importer", "the importer crashed on a CSV with quoted newlines"),
    _same("Buy strings for the cello", "My cello lesson moved to Thursday"),
    _same("Discuss Hannah's maternity leave cover", "Who takes over while Hannah is on maternity leave?"),
    _same("Submit the reimbursement form for the Oslo conference", "I found the Oslo receipts in my coat"),
    _same("Investigate the memory leak in the image resizer", "memory leak again, the resizer pod was killed"),
    _same("Review Tomás's thesis chapter on glaciers", "Tomás wants to know when he gets feedback"),
    _same("Switch the electricity tariff to the night rate", "what does our electricity tariff cost at peak hours?"),
    _same("Send the budget variance report to finance", "Did you see the variance numbers? Marketing is way off"),
    _same("Ask the pharmacist about ibuprofen and the blood thinner", "my knee is swollen, I'd take an ibuprofen"),
    _same("Look into ticket #4821", "any news on #4821?"),
    _same("Sharpen the chisels", "I want to cut the joint today but the chisels are blunt", "workshop on Saturday"),
    _same("Update the onboarding handbook with VPN instructions", "the new hire can't connect to the VPN"),
    _same("Transfer mapletree.io to the new registrar", "the certificate for mapletree.io expired"),
    _same("Plan the hike around Lake Bled", "is the trail at Bled open in April?"),
    _same("Pay the quarterly estimated taxes", "I finished the bookkeeping, next come the quarterly taxes"),
    _alike("Send the budget variance report to finance", "What's our budget for the offsite?"),
    _alike("Review the quarterly sales report", "The weather report says rain all week"),
    _alike("Call the bank about the mortgage rate", "we walked along the river bank yesterday"),
    _alike("Book a table for the team dinner", "I'm reading a great book about the Roman army"),
    _alike("Update the project plan", "what's the plan for tonight?"),
    _alike("Check the test results from the lab", "let me check whether the tests pass on my branch"),
    _alike("Email the client the new proposal", "my email client keeps crashing"),
    _alike("Schedule the team meeting about hiring", "the meeting with the school went well"),
    _alike("Fix the kitchen light", "Use a light theme in the settings page, please"),
    _alike("Order a new office chair", "in order to sort them by date, use a key function"),
    _alike("Finish the data migration script", "I finished reading the film script you sent"),
    _alike("Buy a birthday present for Mum", "how should I present the results?"),
    _alike("Change the oil in the car", "the recipe needs two spoons of olive oil"),
    _alike("Clean up the old branches in the repo", "the branch office in the north is closing"),
    _alike("Ask about the delivery time for the sofa", "What time is it in Tokyo?"),
    _alike("Follow up with the customer about the refund request", "the HTTP request times out after 30 seconds"),
    _alike("Run the monthly backup of the photos", "I went for a run this morning, 10 k in 52 minutes"),
    _alike("Water the plants in the office", "the water level in the basement is back to normal"),
    _alike("Set up the training session for new staff", "the training loss goes down but validation does not"),
    _alike("Print the boarding passes", "print the list with one item per line"),
    _alike("Pick up the kids from school at four", "pick a colour for the header"),
    _alike("Write a letter to the insurance company", "how many letters does the Greek alphabet have?"),
    _alike("Prepare the slides for the board", "I need a wooden board of 40 cm for the shelf"),
    _alike("Move the server to the new rack", "we are moving to a new flat in May"),
    _alike("Check the price of train tickets", "close the ticket, the customer is happy"),
    _alike("Draft the agenda for Monday's review", "the code review on Monday found two problems"),
    _alike("Decide on the release date", "I have a date on Friday, what should I wear?"),
    _alike("Put the cost figures into the spreadsheet", "what does figure 3 in the paper show?"),
    _alike("Share the design document with the support team", "our support contract ends this year"),
    _alike("Replace the battery of the smoke alarm", "set an alarm for seven"),
)

HELD_OUT = (
    _same("Ask the accountant whether the home office is deductible", "our accountant just replied about last year"),
    _same("Bring the telescope to Ines on Sunday", "clear sky tonight, I could set up the telescope"),
    _same("Review the Q3 budget before the board meeting", "the board meeting was moved to Wednesday"),
    _same("Ping the design team about the broken icons", "half of the icons are broken on dark backgrounds"),
    _same("Refill the asthma inhaler prescription", "I am short of breath, where is my inhaler?"),
    _same("Upgrade Postgres to 17 on the reporting host", "queries on Postgres got slow since Monday"),
    _same("Tune the guitar before the wedding", "what songs should I play on guitar for the first dance?"),
    _same("Merge the pull request for dark mode", "users keep asking when dark mode will be out"),
    _same("Get the winter tyres fitted", "the forecast says snow, are the tyres still the summer ones?"),
    _same("Reply to Kowalski about the lease", "Kowalski left a voice message"),
    _same("Backport the fix for CVE-2026-1234", "does 3.2 still contain CVE-2026-1234?"),
    _same("Check the oven thermostat", "the cake burned again, I think the oven runs too hot"),
    _same(
        "Collect the customer interviews for the pricing study",
        "I have ten minutes for the pricing study, where were we?",
    ),
    _same("Draft the grant proposal for the coral reef survey", "the reef survey photos are in the shared folder"),
    _same("Reset the thermostat schedule in the conference room", "it's freezing in the conference room"),
    _alike("Review the Q3 budget before the board meeting", "the skate board budget is gone, I bought wheels"),
    _alike("Send the weekly status report to Dana", "what is the status of my parcel?"),
    _alike("Prepare the training data for the classifier", "my marathon training starts in spring"),
    _alike("Test the new payment page with a real card", "she sent me a lovely birthday card"),
    _alike("Ask support why the account was charged twice", "on account of the strike the trains are late"),
    _alike("Order the parts for the bike", "the second part of the novel is slow"),
    _alike("Plan the summer holiday with the kids", "we have a plan for the database upgrade"),
    _alike("Close the window in the guest room", "the window manager hides the second monitor"),
    _alike("Add a test for the login form", "my blood test results came back"),
    _alike("Pay the phone bill", "Bill said he would phone"),
    _alike("Change the filter in the air conditioner", "add a filter to the list view, and make it change on click"),
    _alike("Write the release notes for version 4", "take notes during the lecture, please"),
    _alike("Hang the picture in the hall", "the big picture is that sales are flat"),
    _alike("Discuss team capacity with the manager", "which team won the game last night?"),
    _alike("Email finance the travel expenses report", "the report on climate change is out, travel is a big share"),
)

MORE = (
    _same("Prepare slides for the investor meeting", "The investor meeting got moved to Thursday"),
    _same("Follow up with Acme about the invoice", "Acme just emailed us"),
    _same("Update the API documentation", "The API docs are out of date"),
    _same("Fix the login bug on mobile", "Users on mobile can't login"),
    _same("Review the performance test results", "the performance tests finished overnight"),
    _same("Deploy the payment service", "the payment service is down again"),
    _same("Call mom about her birthday", "Mom's birthday is next week"),
    _same("Buy milk", "we're out of milk"),
    _same("Look into the slow dashboard queries", "why is the dashboard so slow today?"),
    _same("Send contract to legal", "legal wants to see the contract before signing"),
    _same("Ask Jonas for the access token", "Jonas is online now"),
    _same("Schedule the car inspection", "the car makes a weird noise, is the inspection overdue?"),
    _same("Migrate user table to UUID keys", "should primary keys be UUIDs or integers?"),
    _same("Book flights to Denver", "how far is the hotel from downtown Denver?"),
    _same("Write post-mortem for the outage", "the outage last night was caused by DNS"),
    _same("Replace deprecated OAuth library", "OAuth login is failing in staging"),
    _same("Check the warranty of the dishwasher", "dishwasher is leaking"),
    _same("Pick a date for the team offsite", "where should we hold the offsite this year?"),
    _same("Share Q3 roadmap with the sales team", "sales asked about the roadmap"),
    _same("Get feedback from Lena on the logo", "Lena is coming by at three"),
    _same("Cancel the gym membership", "is the gym still charging me?"),
    _same("Benchmark the new embedding model", "which embedding model should we use for search?"),
    _alike("Send the weekly report to the manager", "the bug report has no steps"),
    _alike("Review the marketing budget", "my phone's battery budget per hour"),
    _alike("Update the customer database", "update me on the customer dinner"),
    _alike("Schedule a review of the security policy", "I wrote a review of the restaurant"),
    _alike("Order new monitors for the office", "monitor the memory usage, please"),
    _alike("Prepare the project presentation", "the project folder is in Dropbox"),
    _alike("Call the insurance company about the claim", "the company picnic is on Saturday"),
    _alike("Check the server logs for errors", "there are spelling errors in my essay"),
    _alike("Finalize the hiring plan for engineering", "what's the floor plan of the house?"),
    _alike("Discuss the pricing model with sales", "the model overfits after ten epochs"),
    _alike("Plan the product launch event", "the event handler fires twice"),
    _alike("Pay the electricity invoice", "can you generate an invoice template?"),
    _alike("Clean the kitchen filter", "clean data by removing outliers"),
    _alike("Draft the team newsletter", "the team lost again yesterday"),
    _alike("Ask finance about the travel budget", "what's the budget for the kitchen renovation?"),
    _alike("Review pull request for search page", "my search for a flat goes on"),
    _alike("Fix the broken link on the home page", "I'm at home today"),
    _alike("Organize files in the shared drive", "I'll drive to the lake"),
    _alike("Test backup restore procedure", "the surgical procedure took two hours"),
    _alike("Send the quarterly numbers to the board", "the numbers in column B don't add up"),
    _alike("Write documentation for the API", "the documentation I read on Rome was great"),
    _alike("Set up the meeting room display", "display the date in ISO format"),
)
