"""A small knowledge base in two languages: a person, what they built, with what and for whom."""

from __future__ import annotations

from datetime import date

import yaml

from groundplan.asking.lookup.read import read_lookup
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.knowledge import Conversation, KnowledgeSchema
from groundplan.contracts.reading import IntentAsked, Reading
from groundplan.text.entities import Row, build_registry

DESCRIBED = """
source: portfolio
types:
  - {name: person, words: {en: [person], ru: [человек]}}
  - {name: project, words: {en: [project], ru: [проект]}}
  - {name: technology, words: {en: [technology], ru: [технология]}}
  - {name: company, words: {en: [company], ru: [компания]}}
  - {name: achievement, words: {en: [achievement], ru: [достижение]}}
  - {name: contact, words: {en: [contact], ru: [контакт]}}
  - {name: year, words: {en: [year], ru: [год]}}
relations:
  - {name: uses, from: project, to: technology, words: {
      en: {forward: [uses, technologies, stack], backward: [used in, applied]},
      ru: {forward: [стек, технологии, использует], backward: [применял, использовал]}}}
  - {name: achieved, from: project, to: achievement, words: {
      en: {forward: [achievements]}, ru: {forward: [достижения]}}}
  - {name: built_for, from: project, to: company, words: {en: {forward: [customer], backward: [projects at]},
     ru: {forward: [заказчик], backward: [проекты в]}}}
  - {name: led_by, from: project, to: person, words: {
      en: {forward: [leader], backward: [led]}, ru: {forward: [руководитель], backward: [руководил]}}}
  - {name: tested_by, from: project, to: person, words: {
      en: {forward: [tester], backward: [tested]}, ru: {forward: [тестировщик], backward: [тестировал]}}}
  - {name: finished, from: project, to: year, words: {en: {forward: [finished]}, ru: {forward: [завершен]}}}
  - {name: works_at, from: person, to: company, words: {en: {forward: [works]}, ru: {forward: [работает]}}}
  - {name: has_contact, from: person, to: contact, words: {en: {forward: [contacts]}, ru: {forward: [контакты]}}}
intents:
  - {name: project_tech_stack, about: project, path: [uses], words: {en: [tech stack], ru: [стек]}}
  - {name: technology_usage, about: technology, path: [^uses], words: {en: [where used], ru: [где применял]}}
  - {name: project_achievements, about: project, path: [achieved], words: {en: [achievements], ru: [достижения]}}
  - {name: project_details, about: project, path: [], words: {en: [tell about], ru: [расскажи про]}, render: SHORT}
  - {name: contacts, about: person, path: [has_contact], words: {en: [contacts], ru: [контакты]}}
  - {name: current_job, about: person, path: [works_at], words: {en: [current job], ru: [где сейчас работает]}}
  - {name: experience, words: {en: [experience], ru: [опыт]}, render: SHORT}
"""
ROWS: tuple[Row, ...] = (
    ("person:dmitry", "person", "Дмитрий", ("Dmitry",)),
    ("project:alor", "project", "АЛОР Брокер", ("АЛОР", "Alor")),
    ("company:alor", "company", "АЛОР", ()),
    ("project:portfolio", "project", "AI-Portfolio", ()),
    ("project:gazprom", "project", "Газпром", ()),
    ("project:tools", "project", "Tools", ()),
    ("technology:rag", "technology", "RAG", ()),
    ("technology:python", "technology", "Python", ("Питон",)),
    ("company:aston", "company", "Aston", ("Астон",)),
)
SCHEMA = KnowledgeSchema.model_validate(yaml.safe_load(DESCRIBED))
REGISTRY = build_registry(ROWS)


def read(question: str, context: Conversation | None = None) -> Reading | Clarification | Refusal:
    return read_lookup(question, SCHEMA, REGISTRY, today=date(2026, 3, 1), context=context)


def understood(question: str, context: Conversation | None = None) -> Reading:
    reading = read(question, context)
    assert isinstance(reading, Reading), reading
    return reading


def asked(question: str, context: Conversation | None = None) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """Intent, entity and path of each requirement."""
    values = [requirement.value for requirement in understood(question, context).requirements]
    return [(value.intent, value.entity, value.path) for value in values if isinstance(value, IntentAsked)]


def after(question: str) -> Conversation:
    """The conversation in which this question was just answered."""
    reading = understood(question)
    return Conversation(question=question, entities=reading.entities)
